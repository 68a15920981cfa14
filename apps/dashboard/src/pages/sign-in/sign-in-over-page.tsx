import { getDefaultZIndex, Modal } from '@mantine/core'
import { useSession } from '../../api/session/session.ts'
import { pageTexts } from '../../texts.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

/** Covers a page whose session ended: the page and its input stay. */
export function SignInOverPage() {
  const { data: session } = useSession()
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      size={400}
      // Also over what was opened after it, as the search with its shortcut.
      zIndex={getDefaultZIndex('overlay')}
      title="Sign in"
    >
      <p className={styles.over}>{pageTexts.signedOut}</p>
      <SignInForm {...(session === undefined ? {} : { email: session.user.email })} onSignedIn={() => {}} />
    </Modal>
  )
}
