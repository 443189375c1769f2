/**
 * Renders a document. Invariant: the elements are those of the server's HTML (doc/html_writer.py);
 * golden documents compare both. Text never becomes markup, and an address becomes a link only if
 * its scheme is harmless.
 */
import type { ComponentChildren, VNode } from "preact";
import { fileOf, isLive, isMention, pageOf, shownAs } from "./address";
import { Picture } from "./picture";
import { Anchors } from "./text";
import type { Doc, DocNode } from "./types";

const TAGS = {
  bold: "strong",
  italic: "em",
  strike: "s",
  underline: "u",
  highlight: "mark",
  subscript: "sub",
  superscript: "sup",
  code: "code",
} as const;

/** What the text around a document's own words says. */
export const SAID = {
  footnotes: "Footnotes",
  backToText: "back to the text",
  isDone: "done",
  isOpen: "open",
};

/** The elements of a document; links to pages get the prefix `pages`. */
export function render(doc: Doc, pages = "/p/", said = SAID): VNode {
  return new Writer(doc, pages, said).all();
}

class Writer {
  #anchors = new Anchors();
  #numbers = new Map<string, number>();

  constructor(
    readonly doc: Doc,
    readonly pages: string,
    readonly said: typeof SAID,
  ) {}

  all(): VNode {
    const notes = this.doc.content.filter((block) => block.type === "footnote");
    const body = this.doc.content
      .filter((block) => block.type !== "footnote")
      .map((b, at) => this.block(b, at));
    if (!notes.length) return <>{body}</>;
    const items = notes.map((note) => ({
      label: String(note.attrs?.label),
      inner: this.inner(note),
    }));
    for (const { label } of items) this.number(label);
    items.sort((a, b) => this.number(a.label) - this.number(b.label));
    return (
      <>
        {body}
        <section aria-label={this.said.footnotes}>
          <hr />
          <ol>
            {items.map(({ label, inner }) => (
              <li key={label} id={`fn:${label}`}>
                {inner}
                <a href={`#fnref:${label}`} aria-label={this.said.backToText}>
                  ↩
                </a>
              </li>
            ))}
          </ol>
        </section>
      </>
    );
  }

  private number(label: string): number {
    const known = this.#numbers.get(label);
    if (known !== undefined) return known;
    this.#numbers.set(label, this.#numbers.size + 1);
    return this.#numbers.size;
  }

  private inner(node: DocNode): VNode[] {
    return (node.content ?? []).map((child, at) => this.block(child, at));
  }

  private block(node: DocNode, key: number): VNode {
    switch (node.type) {
      case "paragraph":
        return this.file(node, key) ?? <p key={key}>{this.line(node)}</p>;
      case "heading": {
        // The page's title is the h1.
        const Tag = `h${Math.min(6, Number(node.attrs?.level ?? 1) + 1)}` as "h2";
        const id = this.#anchors.of(node);
        return (
          <Tag key={key} {...(id ? { id } : {})}>
            {this.line(node)}
          </Tag>
        );
      }
      case "horizontalRule":
        return <hr key={key} />;
      case "codeBlock":
      case "htmlBlock":
        return (
          <pre key={key} tabIndex={0}>
            <code {...(node.attrs?.language ? { class: `language-${node.attrs.language}` } : {})}>
              {`${node.content?.[0]?.text ?? ""}\n`}
            </code>
          </pre>
        );
      case "listItem":
      case "taskItem":
        return this.item(node, key);
      case "tableHeader":
      case "tableCell":
        return this.cell(node, key);
      case "orderedList": {
        const start = Number(node.attrs?.start ?? 1);
        return (
          <ol key={key} {...(start === 1 ? {} : { start })}>
            {this.inner(node)}
          </ol>
        );
      }
      case "bulletList":
        return <ul key={key}>{this.inner(node)}</ul>;
      case "taskList":
        return (
          <ul key={key} class="tasks">
            {this.inner(node)}
          </ul>
        );
      case "table":
        return (
          <div key={key} class="wide" tabIndex={0}>
            <table>{this.inner(node)}</table>
          </div>
        );
      case "tableRow":
        return <tr key={key}>{this.inner(node)}</tr>;
      case "blockquote":
        return <blockquote key={key}>{this.inner(node)}</blockquote>;
      default:
        return <p key={key}>{this.line(node)}</p>;
    }
  }

  /** A paragraph that is the link to a film, a sound or a PDF of this site, with its player. */
  private file(node: DocNode, key: number): VNode | undefined {
    const [link, ...others] = node.content ?? [];
    const name = link?.text ?? "";
    const Kind = others.length ? undefined : shownAs(name);
    const src = link?.marks?.find((one) => one.type === "link")?.attrs?.href ?? "";
    if (!Kind || !fileOf(src) || src.includes("?")) return undefined;
    return (
      <figure key={key} class="file">
        {Kind === "pdf" ? (
          <details>
            <summary>PDF</summary>
            <iframe src={src} title={name} loading="lazy" />
          </details>
        ) : (
          <Kind src={src} aria-label={name} controls preload="metadata" />
        )}
        <figcaption>{this.line(node)}</figcaption>
      </figure>
    );
  }

  private item(node: DocNode, key: number): VNode {
    const checked = node.attrs?.checked;
    if (checked === undefined || checked === null) return <li key={key}>{this.inner(node)}</li>;
    return (
      <li key={key} class="task">
        <span role="img" aria-label={checked ? this.said.isDone : this.said.isOpen}>
          {checked ? "☑" : "☐"}
        </span>{" "}
        {this.inner(node)}
      </li>
    );
  }

  private cell(node: DocNode, key: number): VNode {
    const line = node.content?.[0] ?? node;
    const align = node.attrs?.align ? { class: String(node.attrs.align) } : {};
    if (node.type === "tableHeader" && line.content?.length) {
      return (
        <th key={key} scope="col" {...align}>
          {this.line(line)}
        </th>
      );
    }
    return (
      <td key={key} {...align}>
        {this.line(line)}
      </td>
    );
  }

  private line(node: DocNode): ComponentChildren[] {
    return (node.content ?? []).map((child) => this.inline(child));
  }

  private inline(node: DocNode): ComponentChildren {
    let out: ComponentChildren;
    switch (node.type) {
      case "hardBreak":
        return <br />;
      case "softBreak":
        return "\n";
      case "image":
        out = this.image(node);
        break;
      case "htmlInline":
        out = <code>{String(node.attrs?.html ?? "")}</code>;
        break;
      case "footnoteReference":
        out = this.reference(String(node.attrs?.label ?? ""));
        break;
      default:
        out = node.text ?? "";
    }
    for (const mark of [...(node.marks ?? [])].reverse()) {
      const Tag = TAGS[mark.type as keyof typeof TAGS];
      if (mark.type === "link") out = this.link(mark.attrs?.href ?? "", mark.attrs?.title, out);
      else if (Tag) out = <Tag>{out}</Tag>;
    }
    return out;
  }

  private reference(label: string): VNode {
    const id = this.#numbers.has(label) ? {} : { id: `fnref:${label}` };
    return (
      <sup {...id}>
        <a href={`#fn:${label}`}>{this.number(label)}</a>
      </sup>
    );
  }

  private image(node: DocNode): ComponentChildren {
    const src = String(node.attrs?.src ?? "");
    const alt = String(node.attrs?.alt ?? "");
    if (!isLive(src)) return alt;
    const title = node.attrs?.title ? { title: String(node.attrs.title) } : {};
    return <Picture src={src} alt={alt} {...title} />;
  }

  private link(href: string, title: string | undefined, inner: ComponentChildren): VNode {
    if (isMention(href)) return <span class="mention">{inner}</span>;
    // It is unknown which program would open an address of another scheme, and with what effect.
    if (!isLive(href)) return <span title={href}>{inner}</span>;
    const page = pageOf(href);
    const target = page ? this.pages + href.slice("/p/".length) : href;
    return (
      <a href={target} rel="noopener nofollow" {...(title ? { title } : {})}>
        {inner}
      </a>
    );
  }
}
