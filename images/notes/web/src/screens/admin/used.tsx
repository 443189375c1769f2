/** How much of a limit is used. */

export interface Share {
  used: number;
  limit: number;
  /** True if the limit is not the default. */
  is_own: boolean;
}

export function Used({ title, share, text }: { title: string; share: Share; text: string }) {
  return (
    <li>
      <span>{title}</span>
      <meter
        aria-label={title}
        min={0}
        max={Math.max(share.limit, 1)}
        value={Math.min(share.used, share.limit)}
      >
        {text}
      </meter>
      <small>{text}</small>
    </li>
  );
}
