import { MASK, type Setting } from './setting.ts'

/** Environment variables by name, such as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Settings by the name of their value in the program. */
type Table = Readonly<Record<string, Setting<unknown>>>
export type Values<T extends Table> = {
  readonly [Member in keyof T]: T[Member] extends Setting<infer Value> ? Value : never
}

/** Reads the settings of a table from an environment. @throws SettingsError that lists all wrong ones. */
export function valuesIn<T extends Table>(env: Environment, table: T): Values<T> {
  const values: Record<string, unknown> = {}
  const wrong: WrongSetting[] = []
  for (const [member, setting] of Object.entries(table)) {
    const given = givenText(setting, env)
    const textInForce = given ?? setting.defaultText
    const value = textInForce === undefined ? undefined : setting.parse(textInForce)
    if (value === undefined && given !== undefined) {
      wrong.push({ name: setting.name, given: quoted(setting, given), allowed: setting.allowed })
    }
    values[member] = value
  }
  if (wrong.length > 0) throw new SettingsError(wrong)
  return values as Values<T>
}

export interface ShownSetting {
  readonly name: string
  readonly kind: Setting<unknown>['kind']
  /** In the unit of the variable, masked if it is secret; null: not set. */
  readonly value: string | number | null
  readonly default: string | number | null
  readonly isGiven: boolean
  readonly purpose: string
  readonly allowed: string
}

/** The settings of a table for people, in its order. Wrong ones are shown as they are. */
export function shownIn(env: Environment, table: Table): ShownSetting[] {
  return Object.values(table).map((setting) => shown(setting, env))
}

export interface WrongSetting {
  readonly name: string
  /** Masked if it is secret. */
  readonly given: string
  readonly allowed: string
}

/** Settings that stop the start; the message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'settings'
  readonly wrong: readonly WrongSetting[]

  constructor(wrong: readonly WrongSetting[]) {
    super(wrong.map(({ name, given, allowed }) => `${name} is ${given}; allowed: ${allowed}`).join('\n'))
    this.wrong = wrong
  }
}

/** An empty text usually means "nothing"; an empty secret would silently disable protection. */
function givenText({ name, kind }: Setting<unknown>, env: Environment): string | undefined {
  const given = env[name]
  if (kind === 'secret') return given
  const trimmed = given?.trim()
  return trimmed === '' ? undefined : trimmed
}

function quoted({ kind, show }: Setting<unknown>, given: string): string {
  if (given === '') return 'set but empty'
  if (kind === 'secret') return `${MASK} (${given.length} characters)`
  const visible = String(show(given))
  return JSON.stringify(visible.length > 200 ? `${visible.slice(0, 200)}…` : visible)
}

function shown(setting: Setting<unknown>, env: Environment): ShownSetting {
  const { name, kind, defaultText, purpose, allowed, show } = setting
  const given = givenText(setting, env)
  const shownText = (each: string | undefined) => (each === undefined || each === '' ? null : show(each))
  return {
    name,
    kind,
    value: shownText(given ?? defaultText),
    default: shownText(defaultText),
    isGiven: given !== undefined,
    purpose,
    allowed,
  }
}
