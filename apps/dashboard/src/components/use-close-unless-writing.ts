import { useQueryClient } from '@tanstack/react-query'

/**
 * Closes a dialog, except while a write runs: the dialog shows its answer, such as a new token, only once. The check is made
 * when the user closes, because React draws the dialog only after the write has begun.
 */
export function useCloseUnlessWriting(onClose: () => void): () => void {
  const client = useQueryClient()
  return () => {
    if (client.isMutating() === 0) onClose()
  }
}
