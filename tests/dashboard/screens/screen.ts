import type { Page } from 'playwright-core'
import type { World } from './world.ts'

export const STATES = ['full', 'empty', 'loading', 'error', 'no permission'] as const
export type State = (typeof STATES)[number]

/** A page as `npm run screens` takes pictures of it. */
export interface Screen {
  /** Names its contact sheet: `source setup`. */
  readonly name: string
  /** Below /ui; undefined where the world has nothing of the kind. */
  readonly path: (world: World) => string | undefined
  /** All of them unless given. */
  readonly states?: readonly State[]
  /** Shown down to its end, not only what the window shows at first: forms. */
  readonly isWhole?: true
  /** What a person does before the picture: opens a dialog, chooses a row. */
  readonly prepare?: (page: Page) => Promise<void>
}
