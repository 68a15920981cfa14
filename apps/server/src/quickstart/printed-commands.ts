import path from 'node:path'
import { commandLine } from '../cli/command-line.ts'
import { loadClientSettings, settingsList } from '../config/settings.ts'

/** The part of a server that decides what a shell without its settings needs. */
export interface PrintingServer {
  /** Its URL, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string
  readonly dataDir: string
  readonly host: string
}

/** Commands that reach this server from a shell that has none of its settings. */
export function printedCommands({ baseUrl, dataDir, host }: PrintingServer) {
  const defaults = new Map(settingsList({}).map((setting) => [setting.name, String(setting.default)]))
  const folder = path.resolve(dataDir)
  const folderSetting = folder === path.resolve(defaults.get('MILLRACE_DATA_DIR')!) ? {} : { MILLRACE_DATA_DIR: folder }
  const unlessDefault = (name: string, value: string) => (value === defaults.get(name) ? {} : { [name]: value })
  return {
    /** A command that calls the server; it finds its token in the data folder. */
    remote: (...words: string[]) =>
      commandLine(baseUrl === loadClientSettings({}).url ? words : [...words, '--url', baseUrl], folderSetting),
    /** A command that works on this machine. */
    local: (...words: string[]) =>
      commandLine(words, {
        ...folderSetting,
        ...unlessDefault('MILLRACE_HOST', host),
        ...unlessDefault('MILLRACE_PORT', new URL(baseUrl).port || '80'),
      }),
  }
}
