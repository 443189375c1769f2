/** A picture of a document; without the server, the copy that is stored for offline reading. */
import { useEffect, useRef, useState } from "preact/hooks";
import { copyOf } from "../sync/pictures";
import { fileOf } from "./address";

interface Props {
  src: string;
  alt: string;
  title?: string;
}

export function Picture({ src, alt, title }: Props) {
  const [copy, setCopy] = useState<string>();
  const ref = useRef<HTMLImageElement>(null);
  useEffect(() => () => (copy ? URL.revokeObjectURL(copy) : undefined), [copy]);
  const useCopy = async (): Promise<void> => {
    const id = fileOf(src);
    const stored = id && !copy ? await copyOf(id) : undefined;
    if (stored) setCopy(URL.createObjectURL(stored));
  };
  useEffect(() => {
    // The element may be that of the first view, which has failed before anything was listening.
    if (ref.current?.complete && !ref.current.naturalWidth) void useCopy();
  }, []);
  return (
    <img
      ref={ref}
      src={copy ?? src}
      alt={alt}
      {...(title ? { title } : {})}
      loading="lazy"
      onError={() => void useCopy()}
    />
  );
}
