/** English, for what is done with a text that is read. */

export const en = {
  enlarge: (name: string) => (name ? `Enlarge the picture: ${name}` : "Enlarge the picture"),
  picture: "Picture",
  fit: "Fit to the window",
  actual: "Actual size",
  since: (names: string[]) =>
    names.length
      ? `Changed by ${new Intl.ListFormat("en").format(names)} since you last read it`
      : "Changed since you last read it",
};

export type ReadingWords = typeof en;
