import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'

/** Runs what a page offers as the same from the command line. @returns each answer; of a long list there are several. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of any list
export async function answersOfCurl(page: Page, token: string): Promise<any[]> {
  const button = page.getByRole('button', { name: 'API: this view as a curl command' })
  await button.click()
  const curl = (await page.getByText(/^curl /).textContent())!
  await page.keyboard.press('Escape')
  // A line for each answer: by itself curl writes them without anything between.
  const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s -w '\\n'`], {
    env: { ...process.env, MILLRACE_TOKEN: token },
    maxBuffer: 100_000_000,
  })
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}
