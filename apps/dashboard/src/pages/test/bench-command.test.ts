import { expect, test } from 'vitest'
import { benchCommand } from './bench-command.ts'

const message = { type: 'track', event: 'It\'s\n\\"new\\"' }
const command = benchCommand({
  target: { kind: 'destination', id: '3uLMicKvWtFGwbwBkUIwtP0l8lu' },
  stage: { user_transform: true, dest_transform: true, send_to_destination: false },
  force: true,
  message,
  origin: 'http://127.0.0.1:9000',
})

test('the command of a run asks the server of the page, in the folder of Millrace', () => {
  expect(command).toContain(
    'npm run millrace -- test-destination 3uLMicKvWtFGwbwBkUIwtP0l8lu --stage user,dest --force --url http://127.0.0.1:9000',
  )
})

test('the message is printed as it is: echo of some shells changes backslashes', () => {
  expect(command).toMatch(/^printf %s '\{"type":"track",.*\\n.*\}' \|\n/)
})
