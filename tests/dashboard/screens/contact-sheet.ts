import type { Dashboard } from '../browser.ts'

export interface Picture {
  readonly title: string
  readonly png: Buffer
  /** What the page did that none may; shown below it. */
  readonly faults: readonly string[]
}

const WIDTH = 2400

/** All pictures of a page on one, wide ones at 740 pixels and narrow ones at their own width. */
export async function contactSheet(dashboard: Dashboard, name: string, pictures: readonly Picture[]): Promise<Buffer> {
  const page = await dashboard.blankPage(WIDTH)
  const figures = pictures.map(({ title, png, faults }) => {
    const isNarrow = title.includes(' 360 ')
    const image = `<img width="${isNarrow ? 360 : 740}" src="data:image/png;base64,${png.toString('base64')}">`
    return `<figure>${image}<figcaption>${escaped([title, ...faults].join(' – '))}</figcaption></figure>`
  })
  await page.setContent(
    `<style>body{margin:24px;font:16px system-ui;background:#888}h1{margin:0 0 16px}main{display:flex;flex-wrap:wrap;gap:24px;align-items:start}figure{margin:0}img{display:block}</style><h1>${escaped(name)}</h1><main>${figures.join('')}</main>`,
  )
  const png = await page.screenshot({ fullPage: true })
  await page.context().close()
  return png
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
