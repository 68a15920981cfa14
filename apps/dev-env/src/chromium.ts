import { execFileSync } from 'node:child_process'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const HEADLESS_NAME = 'chromium-headless-shell'

/** For each start of it here: nothing that it does by itself for a person's comfort, and so no request of its own. */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The system's Chromium; undefined where there is none. */
export function chromiumProgram(): string | undefined {
  return firstOf(NAMES)
}

/** Chromium without the user interface of a browser if it is there: pages run alike, and it starts and draws with less CPU. */
export function headlessProgram(): string | undefined {
  return firstOf([HEADLESS_NAME, ...NAMES])
}

function firstOf(names: readonly string[]): string | undefined {
  const looked = names.map((name) => `command -v ${name}`).join(' || ')
  try {
    return execFileSync('/bin/sh', ['-c', looked], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
