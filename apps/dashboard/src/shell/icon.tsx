const SHAPES = {
  home: 'M2.5 7.5 8 2.8l5.5 4.7M4 6.6v6.6h8V6.6M6.7 13.2V9.6h2.6v3.6',
  events: 'M2.5 4h11M2.5 8h7.5M2.5 12h9.5',
  source: 'M2.5 8h7M6.8 5l3 3-3 3M10 2.8h3.5v10.4H10',
  destination: 'M6 2.8H2.5v10.4H6M6.2 8h7.3M10.6 5l3 3-3 3',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5M9 3.2 7 12.8',
  bench: 'M6 2.5h4M6.7 2.5v4L3.2 12.6a.6.6 0 0 0 .5.9h8.6a.6.6 0 0 0 .5-.9L9.3 6.5v-4M5 10h6',
  dead: 'M2.5 4.5h11v8h-11zM2.8 4.8 8 9l5.2-4.2M6.4 10.2l3.2 0',
  replay: 'M3 8a5 5 0 1 0 1.7-3.8M4.9 1.8 4.5 4.4 7.1 4.8',
  schema: 'M2.5 3h4v3h-4zM9.5 3h4v3h-4zM9.5 10h4v3h-4zM4.5 6v5.5h5M6.5 4.5h3',
  settings:
    'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M8.5 3v3M11.5 3v3M4.5 10v3M7.5 10v3M8.5 4.5h0M4.5 11.5h3M8.5 3h3v3h-3zM4.5 10h3v3h-3z',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4M10.2 10.2l3.3 3.3',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M13 9.6A5.4 5.4 0 0 1 6.4 3a5.4 5.4 0 1 0 6.6 6.6',
  system: 'M2.5 3.2h11v7.4h-11zM6 13.2h4M8 10.6v2.6',
  person: 'M8 2.8a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2M3 13.4c.4-2.4 2.4-3.6 5-3.6s4.6 1.2 5 3.6',
  check: 'M3 8.5 6.5 12 13 4.5',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z',
  terminal: 'M2.5 3h11v10h-11zM5 6.2 7 8 5 9.8M8.5 10h2.5',
  remove: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.3 4.5l.6 8.5h6.2l.6-8.5M6.7 7v3.5M9.3 7v3.5',
  up: 'M3.5 10 8 5.5 12.5 10',
  right: 'M6 3.5 10.5 8 6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
} as const

export type IconName = keyof typeof SHAPES

/** A 16 × 16 icon in the colour of the text beside it; decorative only. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}
