/** Why the server refused something, in the words of the workspace where there are some. */
import { ApiError, UnreachableError } from "../../api/client";
import { EndedError } from "../../api/signed_in";
import { words } from "../../app/words";
import { beside } from "./words";

/** What to tell of a failure; empty if the sign-in has ended, of which the whole window tells. */
export function refusal(error: unknown): string {
  const b = beside.value;
  if (error instanceof EndedError) return "";
  if (error instanceof UnreachableError) return words.value.notReached;
  if (!(error instanceof ApiError)) return `${words.value.failed}: ${String(error)}`;
  if (error.status === 404) return b.pageGone;
  if (error.status === 429) return b.tooMany;
  if (error.status === 403) return `${b.mayNot} ${error.message}`;
  return error.message;
}
