/** A button with a menu below it: arrow keys move, Escape closes, a choice runs. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons";

export interface MenuItem {
  title: string;
  icon?: IconName;
  detail?: string;
  isChecked?: boolean;
  run: () => void;
}

interface Props {
  label: string;
  kind?: string;
  items: MenuItem[];
  children: ComponentChildren;
}

export function Menu({ label, kind = "", items, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const entries = (): HTMLElement[] => [
    ...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? []),
  ];
  useEffect(() => {
    if (!isOpen) return undefined;
    (entries().find((one) => one.getAttribute("aria-checked") === "true") ?? entries()[0])?.focus();
    const away = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = to[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[next % all.length]?.focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (event.key === "Tab") setOpen(false);
  };
  return (
    <div class={`menu ${kind}`} ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="quiet"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={label}>
          {items.map((item, at) => (
            <button
              // Two may have the same title.
              key={at}
              type="button"
              role={item.isChecked === undefined ? "menuitem" : "menuitemradio"}
              {...(item.isChecked === undefined ? {} : { "aria-checked": item.isChecked })}
              tabIndex={-1}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              <span>
                {item.title}
                {item.detail && <small>{item.detail}</small>}
              </span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
