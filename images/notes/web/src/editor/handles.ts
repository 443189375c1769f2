/** Loads the handle beside the block under the mouse, when the text is shown. */
import { Plugin } from "prosemirror-state";

export function handles(): Plugin {
  let made: InstanceType<typeof import("./handle").Handle> | undefined;
  return new Plugin({
    view(view) {
      const make = ({ Handle }: typeof import("./handle")): void => {
        if (!view.isDestroyed) made = new Handle(view);
      };
      void import("./handle").then(make).catch(() => undefined);
      return {
        update: (now, before) => made?.update(now, before),
        destroy() {
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
