/** The icons, drawn for this application on a grid of 20. They are decoration: labels are texts. */

const PATHS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  sidebar: "M3.5 4h13v12h-13zM8 4v12",
  search: "M8.8 14.1a5.3 5.3 0 1 0 0-10.6 5.3 5.3 0 0 0 0 10.6zM12.7 12.7 17 17",
  home: "M3.5 9 10 3.5 16.5 9v7.5h-4.5v-4.5h-4v4.5h-4.5z",
  person: "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4.500 16.500a5.500 5.500 0 0 1 11 0",
  plus: "M10 4v12M4 10h12",
  page: "M5.5 3h6l3.5 3.5V17h-9.500zM11.500 3v3.500H15",
  chevron: "m8 5.500 4.500 4.500L8 14.500",
  star: "m10 3.200 2.100 4.300 4.700.7-3.400 3.300.8 4.700L10 14l-4.200 2.200.8-4.700L3.200 8.200l4.700-.7z",
  edit: "M4 16l.8-3.400L13.400 4l2.600 2.600-8.600 8.600zM11.800 5.600l2.600 2.600",
  more: "M4.500 10h.01M10 10h.01M15.500 10h.01",
  lock: "M5.500 9h9v7.500h-9zM7.200 9V6.800a2.800 2.800 0 0 1 5.600 0V9",
  close: "m5 5 10 10M15 5 5 15",
  offline:
    "M3 3l14 14M4.500 8.400a9 9 0 0 1 3-1.700M10.800 6a9 9 0 0 1 4.700 2.400M7 11.200a5 5 0 0 1 2.300-1.200M10 14.500h.01",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.200l2.700 1.600",
  command: "m6 7 3 3-3 3M11 13.500h4",
  settings: "M3.500 6h7M14.500 6h2M3.500 14h2M9.500 14h7M12.500 4v4M7.500 12v4",
  updown: "m7 8 3-3 3 3M7 12l3 3 3-3",
  bell: "M5 14h10l-1.200-2V9a3.800 3.800 0 0 0-7.600 0v3zM8.700 16.500h2.600",
  comment: "M3.500 4.500h13v9h-7L6 16.500v-3H3.500z",
  trash: "M4.500 6h11M8 6V4h4v2M6 6l.7 10.500h6.600L14 6M8.700 9v4.500M11.300 9v4.500",
  link: "M8.500 11.500a3 3 0 0 0 4.200 0l2.400-2.400a3 3 0 0 0-4.200-4.200l-.9.9M11.500 8.500a3 3 0 0 0-4.200 0l-2.400 2.400a3 3 0 0 0 4.200 4.200l.9-.9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, isFilled = false }: { name: IconName; isFilled?: boolean }) {
  return (
    <svg
      class={`icon${name === "chevron" ? " directed" : ""}`}
      viewBox="0 0 20 20"
      aria-hidden="true"
      fill={isFilled ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width={name === "more" ? 2.4 : 1.5}
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
