/** What comes to a text that is read after it is shown: colours of code, larger pictures, what is new in it. */
import { useEffect, useState } from "preact/hooks";
import type { PageNode } from "../../api/types";
import { colourCode } from "./highlight";
import { ChangedSince } from "./since";
import { ready } from "./words";
import { usePictures, Zoom } from "./zoom";

export { ready };

interface Props {
  node: PageNode;
  isStored: boolean;
}

export function Extras({ node, isStored }: Props) {
  const [picture, setPicture] = useState<HTMLImageElement>();
  useEffect(colourCode, []);
  usePictures(node.doc, setPicture);
  return (
    <>
      <ChangedSince node={node} isStored={isStored} />
      {picture && <Zoom picture={picture} close={() => setPicture(undefined)} />}
    </>
  );
}
