// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration file
import { expect, it } from 'vitest'
import { configurationFile } from './configuration-file.ts'

it('what looks like a variable stays the text that it is on the server', () => {
  const document = {
    millrace: 1,
    libraries: { a: { code: 'const t = `${NAME} $${x} ${1} $NAME`', url: 'https://a/' } },
  }
  expect(JSON.parse(configurationFile(document))).toEqual({
    millrace: 1,
    libraries: { a: { code: 'const t = `$${NAME} $$${x} ${1} $NAME`', url: 'https://a/' } },
  })
})
