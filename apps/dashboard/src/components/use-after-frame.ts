import { useEffect, useState } from 'react'
import { afterFrame } from '../api/after-frame.ts'

/** False until the surrounding page is painted: delays content that is not visible yet. */
export function useAfterFrame(): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    let isHere = true
    void afterFrame().then(() => isHere && setDrawn(true))
    return () => {
      isHere = false
    }
  }, [])
  return isDrawn
}
