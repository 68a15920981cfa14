import { useQueryClient } from '@tanstack/react-query'

/** Closes a dialog, except while a write runs: it asks at that moment, because a page is drawn only after the write has begun. */
export function useCloseUnlessWriting(onClose: () => void): () => void {
  const client = useQueryClient()
  return () => {
    if (client.isMutating() === 0) onClose()
  }
}
