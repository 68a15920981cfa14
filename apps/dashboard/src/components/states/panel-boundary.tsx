import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { pageTexts } from '../../texts.ts'
import styles from './states.module.css'

/** An error in a panel affects only that panel. */
export class PanelBoundary extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <div className={styles.alone} role="alert">
        <p>{pageTexts.panelFailed}</p>
        <Button variant="default" onClick={() => this.setState({ hasFailed: false })}>
          {pageTexts.retry}
        </Button>
      </div>
    )
  }
}
