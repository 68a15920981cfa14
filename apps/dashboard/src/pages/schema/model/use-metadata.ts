import { useModelMetadata, useVersionMetadata } from '../../../api/schemas.ts'

/** Samples and values of one version, or of the whole model. */
export function useMetadata(eventId: string, versionId: string | undefined) {
  const ofModel = useModelMetadata(eventId)
  const ofVersion = useVersionMetadata(versionId)
  return versionId === undefined ? ofModel : ofVersion
}
