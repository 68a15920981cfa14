const { EventEmitter } = require('node:events')

class NativeEventEmitter extends EventEmitter {
  addListener(name, listener) {
    this.on(name, listener)
    return { remove: () => this.off(name, listener) }
  }
}

module.exports = {
  Platform: { OS: 'ios', select: (by) => by.ios },
  AppState: { currentState: 'active', addEventListener: () => ({ remove() {} }) },
  NativeModules: { AnalyticsReactNative: { getContextInfo: async () => ({}) }, Sovran: {} },
  NativeEventEmitter,
}
