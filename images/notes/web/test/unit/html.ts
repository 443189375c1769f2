/** Writes the elements of the renderer as HTML, as the server would. */
import { Fragment, type VNode } from "preact";
import { Picture } from "../../src/doc/picture";

const VOID = new Set(["br", "hr", "img"]);
const escaped = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const quoted = (text: string): string =>
  escaped(text).replace(/"/g, "&quot;").replace(/'/g, "&#x27;");
const NAMES: Record<string, string> = { tabIndex: "tabindex" };

export function html(node: unknown): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map(html).join("");
  if (typeof node !== "object") return escaped(String(node));
  const { type, props } = node as VNode<Record<string, unknown>>;
  const { children, ...attributes } = props;
  if (type === Fragment) return html(children);
  if ((type as unknown) === Picture) {
    const { src, alt, title } = attributes as { src: string; alt: string; title?: string };
    return `<img src="${quoted(src)}" alt="${quoted(alt)}"${title ? ` title="${quoted(title)}"` : ""} loading="lazy">`;
  }
  const written = Object.entries(attributes)
    .map(([name, value]) =>
      value === true ? ` ${name}` : ` ${NAMES[name] ?? name}="${quoted(String(value))}"`,
    )
    .join("");
  return VOID.has(String(type))
    ? `<${type}${written}>`
    : `<${type}${written}>${html(children)}</${type}>`;
}
