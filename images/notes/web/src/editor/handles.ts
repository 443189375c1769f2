/** Loads what dragging needs when the text is shown: the handle beside a block, and the line where one drops. */
import { Plugin, type PluginView } from "prosemirror-state";

export function handles(): Plugin {
  let made: InstanceType<typeof import("./handle").Handle> | undefined;
  return new Plugin({
    view(view) {
      let line: PluginView | undefined;
      const make = ({ Handle, dropLine }: typeof import("./handle")): void => {
        if (view.isDestroyed) return;
        made = new Handle(view);
        line = dropLine(view);
      };
      void import("./handle").then(make).catch(() => undefined);
      return {
        update(now, before) {
          made?.update(now, before);
          line?.update?.(now, before);
        },
        destroy() {
          line?.destroy?.();
          made?.destroy();
          made = undefined;
        },
      };
    },
    state: {
      init: () => null,
      apply(tr) {
        if (tr.docChanged) made?.map(tr.mapping);
        return null;
      },
    },
  });
}
