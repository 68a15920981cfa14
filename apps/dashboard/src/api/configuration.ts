import type { Configuration } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { reading } from './requests/reading.ts'

/** The whole workspace as one document; secrets are `********`. @see contracts/control-plane.md §9 */
export function useConfiguration(options: { isEnabled?: boolean } = {}) {
  return useQuery({
    ...reading<Configuration>('/v2/config'),
    enabled: options.isEnabled ?? true,
  })
}
