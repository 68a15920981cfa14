/** The product's logo: water over a race. */
export function Mark({ size = 22 }: { readonly size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 22 22">
      <rect width="22" height="22" rx="6" fill="var(--accent)" />
      <path
        d="M4.5 8.4q3.2-2.8 6.5 0t6.5 0M4.5 13.8q3.2-2.8 6.5 0t6.5 0"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="1.8"
        strokeLinecap="round"
      />
    </svg>
  )
}
