import { execFileSync } from 'node:child_process'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** The system's Chromium; undefined where there is none. */
export function chromiumProgram(): string | undefined {
  const looked = NAMES.map((name) => `command -v ${name}`).join(' || ')
  try {
    return execFileSync('/bin/sh', ['-c', looked], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
