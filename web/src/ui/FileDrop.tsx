import "./ui.css";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  /** What it is for: `Drop a configuration here, or choose one`. */
  children: ComponentChildren;
  onFiles: (files: File[]) => void;
  /** As of an input of files: `.cfg,.txt`. */
  accept?: string;
  multiple?: boolean;
  class?: string;
}

/** A place to drop files on, which is a chooser of files for those who click or use the keyboard. */
export function FileDrop({ children, onFiles, accept, multiple = false, ...rest }: Props) {
  const [over, setOver] = useState(false);
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])];
    if (files.length > 0) onFiles(multiple ? files : files.slice(0, 1));
  };
  return (
    <label
      class={`drop ${over ? "drop-over" : ""} ${rest.class ?? ""}`}
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        take(e.dataTransfer?.files);
      }}
    >
      <input
        class="unseen"
        type="file"
        accept={accept}
        multiple={multiple}
        onChange={(e) => {
          take(e.currentTarget.files);
          // The same file may be chosen again.
          e.currentTarget.value = "";
        }}
      />
      {children}
    </label>
  );
}
