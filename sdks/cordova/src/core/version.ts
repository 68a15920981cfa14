/** The version of package.json and plugin.xml; a test holds them together. */
export const SDK_VERSION = '1.4.0'

export const LIBRARY_NAME = 'service-sdk-cordova'
