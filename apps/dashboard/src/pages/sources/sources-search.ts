import { type Reader, text } from '../../shell/search-values.ts'

const SORTS = ['name', 'type', 'state', 'rate', 'last'].flatMap((key) => [key, `-${key}`])
const sort: Reader<string> = (given) => (SORTS.includes(given) ? given : undefined)

export const sourcesSearch = { q: text, sort }
