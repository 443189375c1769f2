/** Sends changes of a space or of the installation; a refusal is in the words of these screens. */
import { ApiError } from "../../api/client";
import { send } from "../admin/tools";
import { manage } from "./words";

/** Changes something on the server, as `send` does; a known refusal is translated. */
export async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  try {
    return await send<T>(method, path, body);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const said = manage.value.refusals[error.message];
    throw said ? new ApiError(error.status, said, error.current) : error;
  }
}
