/** Where a text uses a file. */

/** How often a document names a file: as a picture, a film or a link. */
export function places(doc: unknown, id: string): number {
  if (typeof doc === "string") return doc.includes(`/attachments/${id}`) ? 1 : 0;
  if (typeof doc !== "object" || doc === null) return 0;
  return Object.values(doc).reduce<number>((sum, part) => sum + places(part, id), 0);
}
