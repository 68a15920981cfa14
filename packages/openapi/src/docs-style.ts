/** Of the page at /docs; the hash of these very letters stands in its Content-Security-Policy. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b2330; --soft: #5b6675; --line: #dfe3e9; --ground: #ffffff; --raised: #f5f7f9;
  --link: #0b5cad; --get: #0b6bcb; --post: #15803d; --put: #a16207; --patch: #a16207; --delete: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #9aa5b4; --line: #2c3542; --ground: #12161c; --raised: #1a2029;
    --link: #7ab7f5; --get: #7ab7f5; --post: #6dd49a; --put: #e6b95c; --patch: #e6b95c; --delete: #f58f8f; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 6.5rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
code, pre { font: 0.875em/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: baseline; justify-content: space-between; gap: 1rem;
  padding: 0.6rem 1.5rem; background: var(--ground); border-bottom: 1px solid var(--line); }
h1 { margin: 0; font-size: 1.15rem; }
h1 small { color: var(--soft); font-weight: normal; }
.columns { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav { position: sticky; top: 3rem; align-self: start; height: calc(100vh - 3rem); overflow-y: auto; padding: 1rem 1rem 2rem 1.5rem;
  border-right: 1px solid var(--line); font-size: 0.85rem; }
nav > details > summary { display: none; }
nav h2 { margin: 1rem 0 0.25rem; font-size: 0.85rem; }
nav h2 a { color: var(--ink); }
nav h2:first-of-type { margin-top: 0; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: grid; grid-template-columns: 3.6rem minmax(0, 1fr); padding: 0.12rem 0; color: var(--soft); }
nav li a:hover { color: var(--link); }
main { padding: 1rem 2rem 50vh; }
main h2 { margin: 2.5rem 0 0.25rem; font-size: 1.35rem; }
main h3 { margin: 1.25rem 0 0.4rem; font-size: 0.95rem; }
p { margin: 0.4rem 0 0.8rem; max-width: 46rem; }
.about { margin-top: 0.5rem; }
p code, span code, td code { padding: 0.1em 0.3em; border-radius: 4px; background: var(--raised); overflow-wrap: anywhere; }
.get, .post, .put, .patch, .delete { text-transform: uppercase; font-size: 0.75rem; letter-spacing: 0.03em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.route { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 8px; }
.route > summary { display: grid; grid-template-columns: 3.6rem minmax(0, auto) minmax(8rem, 1fr); gap: 0.75rem; align-items: baseline;
  padding: 0.55rem 0.9rem; cursor: pointer; list-style: none; border-radius: 8px; }
.route > summary::-webkit-details-marker { display: none; }
.route > summary:hover, .route[open] > summary { background: var(--raised); }
.route > summary code { overflow-wrap: anywhere; }
.route > summary span { color: var(--soft); }
.route > div { padding: 0.5rem 0.9rem 1rem; border-top: 1px solid var(--line); }
.access { color: var(--soft); font-size: 0.9rem; }
pre { margin: 0.4rem 0; padding: 0.75rem 0.9rem; overflow: auto; max-height: 26rem; border-radius: 6px; background: var(--raised); }
pre code { font-size: 0.8rem; }
.answer { display: grid; grid-template-columns: 2.5rem minmax(0, 1fr); gap: 0 0.5rem; padding: 0.3rem 0; line-height: 1.7; }
.answer small { grid-column: 2; color: var(--soft); }
.good { color: var(--post); } .bad { color: var(--delete); }
.members { margin: 0.4rem 0 0.8rem; }
.members > summary { cursor: pointer; color: var(--link); font-size: 0.9rem; }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: normal; }
th { width: 32%; } td:nth-child(2) { width: 28%; }
th code { overflow-wrap: anywhere; }
td small { color: var(--soft); overflow-wrap: anywhere; }
i { color: var(--delete); font-style: normal; }
@media (max-width: 60rem) {
  html { scroll-padding-top: 7rem; }
  header { padding: 0.6rem 1rem; }
  .columns { display: block; }
  nav { position: static; height: auto; max-height: 40vh; padding: 0.6rem 1rem; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 0.5rem 1rem 30vh; }
  .route > summary { grid-template-columns: 3.2rem minmax(0, 1fr); gap: 0.1rem 0.5rem; }
  .route > summary span { grid-column: 2; font-size: 0.9rem; }
  th, td, td:nth-child(2) { display: block; width: auto; padding: 0.1rem 0; border: 0; }
  tr { display: block; padding: 0.4rem 0; border-bottom: 1px solid var(--line); }
}
@media print { nav { display: none; } .columns { display: block; } header { position: static; } }
`
