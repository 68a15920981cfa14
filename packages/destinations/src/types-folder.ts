import path from 'node:path'

/** A type is a folder in it whose module bears the folder's name. */
export const TYPES_FOLDER = path.join(import.meta.dirname, 'types')

/** The module of a type, by the name of its folder. */
export function typeFile(folder: string): string {
  return path.join(TYPES_FOLDER, folder, `${folder}.ts`)
}

/** `GOOGLE_ADS` lies in `google-ads`. */
export function folderOfType(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}
