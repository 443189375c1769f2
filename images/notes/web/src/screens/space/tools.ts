/** Sends changes of a space or of the installation; a refusal is in the words of these screens. */
import { ApiError } from "../../api/client";
import { send } from "../admin/tools";
import { manage } from "./words";

/** The error with its message in the words of these screens, if they know it. */
export function said(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const text = manage.value.refusals[error.message];
  return text ? new ApiError(error.status, text, error.current) : error;
}

/** Changes something on the server, as `send` does; a known refusal is translated. */
export async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  try {
    return await send<T>(method, path, body);
  } catch (error) {
    throw said(error);
  }
}
