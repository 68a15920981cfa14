import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { run } from '../command-under-test.ts'

/** Typed so far, and what is offered next. */
const CASES: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['de', ['dead-letters']],
  ['token ', ['list', 'create', 'revoke']],
  ['help tok', ['token']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['token list --u', ['--url']],
  ['send track --wr', ['--write-key']],
]
const isMissing = (shell: string) => !process.env['CI'] && spawnSync(shell, ['-c', 'exit 0']).status !== 0

test.skipIf(isMissing('bash'))('bash completes commands, choices and options', async () => {
  const { out: script } = await run(['completion', 'bash'])
  for (const [typed, offered] of CASES) {
    const words = `millrace ${typed}`.split(' ').map((word) => `'${word}'`)
    const ask = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`
    expect(ofInterest(execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })), typed).toEqual(offered)
  }
})

test.skipIf(isMissing('zsh'))('zsh completes commands, choices and options', async () => {
  const { out: script } = await run(['completion', 'zsh'])
  const standIns = `compdef() { :; }; _describe() { print -l -- \${(P)2}; }`
  for (const [typed, offered] of CASES) {
    const words = `millrace ${typed}`.split(' ').map((word) => `'${word}'`)
    const ask = `words=(${words.join(' ')}); CURRENT=${words.length}; _millrace`
    const shown = execFileSync('zsh', ['-f', '-c', `${standIns}\n${script}\n${ask}`], { encoding: 'utf8' })
    const started = typed.split(' ').at(-1)!
    const texts = ofInterest(shown).map((line) => line.split(':')[0]!)
    expect(
      texts.filter((text) => text.startsWith(started)),
      typed,
    ).toEqual(offered)
  }
})

test.skipIf(isMissing('fish'))('fish completes commands, choices and options', async () => {
  const { out: script } = await run(['completion', 'fish'])
  for (const [typed, offered] of CASES) {
    const shown = execFileSync('fish', ['-c', `${script}\ncomplete -C 'millrace ${typed}'`], { encoding: 'utf8' })
    const texts = ofInterest(shown).map((line) => line.split('\t')[0]!)
    expect(texts.toSorted(), typed).toEqual(offered.toSorted())
  }
})

test('another shell is wrong usage, and those there are get named', async () => {
  const { code, err } = await run(['completion', 'csh'])
  expect(code).toBe(64)
  expect(err).toContain('bash, zsh, fish')
})

/** Without the option that every command has. */
function ofInterest(lines: string): string[] {
  return lines.split('\n').filter((line) => line !== '' && !line.startsWith('--help'))
}
