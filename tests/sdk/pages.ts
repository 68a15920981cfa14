import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The page of an app on the browser platform: cordova.js and nothing else, so that a test plays the app. */
export const PAGE = `<!doctype html>
<html>
  <head><meta charset="utf-8"><title>Shop</title></head>
  <body><script src="cordova.js"></script></body>
</html>
`

/** sdks/cordova/example, its page beside that of the tests. */
export function exampleFiles(): Record<string, string> {
  const folder = path.join(import.meta.dirname, '../../sdks/cordova/example')
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
  return { 'example.html': read('index.html'), 'example.css': read('example.css'), 'example.js': read('example.js') }
}
