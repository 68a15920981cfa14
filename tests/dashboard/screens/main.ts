import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { makeReadmePictures } from './readme.ts'
import { makeSheets } from './sheets.ts'

/*
 * npm run screens [-- --out <folder>] [part of a name …]: a contact sheet for each page of the dashboard, for a person to look
 * at (contracts/dashboard.md §13 [U21]).
 * npm run screens -- readme: the pictures of the README.
 */

const say = (line: string) => void process.stdout.write(`${line}\n`)
const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })

if (positionals[0] === 'readme') await makeReadmePictures(say)
else await makeSheets(path.resolve(values.out ?? path.join(tmpdir(), 'millrace-screens')), positionals, say)
