/** Ends sessions of what its person gives up: known to the lists of such texts and pages, which know no editor. */

interface Ending {
  /** Ends the session of this client. */
  client: (client: string) => void;
  /** Ends the session of this page. */
  page: (page: string) => void;
}

/** Without an editor there are no sessions. */
export const ending: Ending = { client: () => undefined, page: () => undefined };
