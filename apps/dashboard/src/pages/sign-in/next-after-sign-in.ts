const HOME = '/ui/'

/** The page after the sign-in: always a path of the dashboard, whatever the link contains. */
export function nextAfterSignIn(next: string | undefined): string {
  if (next === undefined || !next.startsWith(HOME)) return HOME
  // Browsers remove tabs and line ends, and resolve `..`: the resolved path decides.
  const url = new URL(next, 'http://dashboard.invalid')
  const isOurs = url.host === 'dashboard.invalid' && url.pathname.startsWith(HOME) && url.pathname !== `${HOME}sign-in`
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : HOME
}
