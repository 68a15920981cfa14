const HOME = '/ui/'

/** Where to go after the sign-in: a path of the dashboard and nothing else, whatever a link says. */
export function nextAfterSignIn(next: string | undefined): string {
  if (next === undefined || !next.startsWith(HOME)) return HOME
  // Browsers drop tabs and line ends, and walk up `..`: what counts is where they would end.
  const url = new URL(next, 'http://dashboard.invalid')
  const isOurs = url.host === 'dashboard.invalid' && url.pathname.startsWith(HOME) && url.pathname !== `${HOME}sign-in`
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : HOME
}
