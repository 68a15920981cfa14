export { Broker, type BrokerOptions } from './broker.ts'
export { KafkaCluster, type KafkaClusterOptions } from './kafka-cluster.ts'
export { hasKafkaJars, KAFKA_VERSION, kafkaJars, programCache } from './kafka-jars.ts'
