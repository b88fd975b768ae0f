import * as eagerTls from './index.js'

export * from './index.js'
export default eagerTls
