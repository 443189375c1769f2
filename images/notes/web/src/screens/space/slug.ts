/** A short name made of a name: small letters, digits and single hyphens, at most 50; may be empty. */
export const slugOf = (name: string): string =>
  name
    .replace(/ß/g, "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, 50)
    .replace(/-$/, "");
