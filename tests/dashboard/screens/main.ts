import { tmpdir } from 'node:os'
import path from 'node:path'
import { programArguments } from '@millrace/dev-env/program-arguments'
import { makeReadmePictures } from './readme.ts'
import { makeSheets } from './sheets.ts'

/* @see contracts/dashboard.md §13 [U21] */

const say = (line: string) => void process.stdout.write(`${line}\n`)
const { values, positionals } = programArguments({
  usage: `Makes a contact sheet for each page of the dashboard, for a person to look at.

  npm run screens [-- <part of a name> … --out <folder>]
  npm run screens -- readme    makes the pictures of the README

  <part of a name> …  pages with this text in their names; default: all pages
  --out <folder>      default: millrace-screens in the folder for temporary files`,
  options: { out: { type: 'string' } },
  takesNames: true,
})

if (positionals[0] === 'readme') await makeReadmePictures(say)
else await makeSheets(path.resolve(values.out ?? path.join(tmpdir(), 'millrace-screens')), positionals, say)
