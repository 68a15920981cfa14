import type { TestOutcome } from './run-tests.ts'

/** A JUnit report for build systems: a suite for each file. */
export function junitReport(outcomes: readonly TestOutcome[]): string {
  const suites = [...Map.groupBy(outcomes, ({ file }) => file)].map(([file, tests]) => {
    const failures = tests.filter(({ failure }) => failure !== undefined).length
    const cases = tests.map(testCase).join('')
    return `  <testsuite name="${escaped(file)}" tests="${tests.length}" failures="${failures}">\n${cases}  </testsuite>\n`
  })
  const failures = outcomes.filter(({ failure }) => failure !== undefined).length
  const all = `<testsuites name="millrace test" tests="${outcomes.length}" failures="${failures}">`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${all}\n${suites.join('')}</testsuites>\n`
}

function testCase({ name, destination, stage, failure }: TestOutcome): string {
  const head = `    <testcase name="${escaped(name)}" classname="${escaped(`${destination}.${stage}`)}"`
  if (failure === undefined) return `${head}/>\n`
  const [first = '', ...rest] = failure
  const text = escaped([first, ...rest].join('\n'))
  return `${head}>\n      <failure message="${escaped(first)}">${text}</failure>\n    </testcase>\n`
}

/** Removes characters that XML cannot represent. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[<>&"]/g, (each) => `&#${each.charCodeAt(0)};`)
}
