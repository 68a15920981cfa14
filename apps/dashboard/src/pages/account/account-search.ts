import { flag } from '../../shell/search-values.ts'

export const accountSearch = { new: flag }
