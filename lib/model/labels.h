/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that Grove objects carry: label and annotation keys, component values, finalizers, the
 * scheduling gate, environment variables, condition types, their reasons, event reasons. Each is
 * written here once; code elsewhere uses the constant.
 */
#ifndef GV_MODEL_LABELS_H
#define GV_MODEL_LABELS_H

/* ---- label keys ---- */
#define GV_LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define GV_LABEL_PART_OF "app.kubernetes.io/part-of"
#define GV_LABEL_NAME "app.kubernetes.io/name"
#define GV_LABEL_COMPONENT "app.kubernetes.io/component"
#define GV_LABEL_SET_REPLICA "grove.io/podcliqueset-replica-index"
#define GV_LABEL_GROUP "grove.io/podcliquescalinggroup"
#define GV_LABEL_GROUP_REPLICA "grove.io/podcliquescalinggroup-replica-index"
#define GV_LABEL_CLIQUE "grove.io/podclique"
#define GV_LABEL_POD_INDEX "grove.io/podclique-pod-index"
#define GV_LABEL_GANG "grove.io/podgang"
#define GV_LABEL_BASE_GANG "grove.io/base-podgang"
#define GV_LABEL_TEMPLATE_HASH "grove.io/pod-template-hash"
#define GV_LABEL_INCARNATION "libgrove.io/incarnation" /* an extension */
#define GV_LABEL_SCHEDULER "grove.io/scheduler-name"
#define GV_LABEL_REVISION_HASH "controller.kubernetes.io/hash" /* of a ControllerRevision */
/* Path by which the downward API reads a label of the pod. */
#define GV_FIELD_OF_LABEL(key) "metadata.labels['" key "']"
/* Everything below this prefix belongs to Grove: it is never copied from one object to another. */
#define GV_OWN_PREFIX "grove.io/"

/* ---- label values ---- */
#define GV_MANAGER "grove-operator" /* of GV_LABEL_MANAGED_BY */
#define GV_COMPONENT_SERVICE "pcs-headless-service"
#define GV_COMPONENT_ROLE "pod-role"
#define GV_COMPONENT_ROLEBINDING "pod-role-binding"
#define GV_COMPONENT_SERVICEACCOUNT "pod-service-account"
#define GV_COMPONENT_SECRET "pod-sa-token-secret"
#define GV_COMPONENT_GROUP "pcs-podcliquescalinggroup"
#define GV_COMPONENT_HPA "pcs-hpa"
#define GV_COMPONENT_GANG "podgang"
#define GV_COMPONENT_STANDALONE "pcs-podclique"
#define GV_COMPONENT_MEMBER "pcsg-podclique"
#define GV_COMPONENT_CLAIM "resource-claim"
#define GV_COMPONENT_COMPUTEDOMAIN "pcs-computedomain"
#define GV_COMPONENT_REVISION "pcs-revision"

/* ---- annotations ---- */
#define GV_ANNOTATION_UNPROTECTED "grove.io/disable-managed-resource-protection"
#define GV_ANNOTATION_TRIGGER "grove.io/reconcile-trigger"
#define GV_ANNOTATION_TOPOLOGY "grove.io/topology-name"
#define GV_ANNOTATION_MNNVL "grove.io/mnnvl-group" /* on a ComputeDomain also a label */
#define GV_MNNVL_NONE "none"                       /* its value that opts out */
#define GV_ANNOTATION_VOLCANO_QUEUE "scheduling.grove.io/volcano-queue"
#define GV_ANNOTATION_VOLCANO_GROUP "scheduling.volcano.sh/group-name"
#define GV_ANNOTATION_VOLCANO_GROUP_K8S "scheduling.k8s.io/group-name"
#define GV_KEY_KAI_QUEUE "kai.scheduler/queue"           /* label or annotation */
#define GV_LABEL_KAI_NODE_POOL "kai.scheduler/node-pool" /* kept on a live PodGroup */
#define GV_LABEL_KAI_SUBGROUP "kai.scheduler/subgroup-name"
#define GV_ANNOTATION_KAI_SKIP "kai.scheduler/skip-podgrouper"
#define GV_ANNOTATION_KAI_GROUP "pod-group-name"
#define GV_ANNOTATION_KAI_TOPOLOGY "kai.scheduler/topology" /* fallback of GV_ANNOTATION_TOPOLOGY */
#define GV_ANNOTATION_SERVICEACCOUNT "kubernetes.io/service-account.name"

/* Of our own: on a set taken over from Go Grove, which of its hashes stand for which of ours. */
#define GV_ANNOTATION_ADOPTED "libgrove.io/adopted-hashes"
/* PodGang, for the engine: "MODE KEY GANG", the domain of node label KEY is that of the base gang GANG */
#define GV_ANNOTATION_CROSS_GANG "libgrove.io/cross-gang-pack"
/* PodGang, for the engine: "MODE KEY SKEW NAME", spread from the other replicas of the set or group NAME */
#define GV_ANNOTATION_SPREAD "libgrove.io/spread"
/* On a PodGang whose pods we find places for: which node each index of each clique has or had last, and the
 * domain that the gang was packed into. */
#define GV_ANNOTATION_PLACES "libgrove.io/places"
#define GV_ANNOTATION_RESTARTS "libgrove.io/restarts" /* PodClique, PodCliqueScalingGroup */
#define GV_ANNOTATION_ANCHOR "libgrove.io/anchor-domain"

/* ---- finalizers and the gate ---- */
#define GV_FINALIZER_SET "grove.io/podcliqueset.grove.io"
#define GV_FINALIZER_CLIQUE "grove.io/podclique.grove.io"
#define GV_FINALIZER_GROUP "grove.io/podcliquescalinggroup.grove.io"
#define GV_FINALIZER_COMPUTEDOMAIN "grove.io/computedomain-finalizer"
#define GV_GATE "grove.io/podgang-pending-creation"

/* ---- environment variables of pods, in the order in which they stand ---- */
#define GV_ENV_SET_NAME "GROVE_PCS_NAME"
#define GV_ENV_SET_INDEX "GROVE_PCS_INDEX"
#define GV_ENV_CLIQUE_NAME "GROVE_PCLQ_NAME"
#define GV_ENV_SERVICE "GROVE_HEADLESS_SERVICE"
#define GV_ENV_POD_INDEX "GROVE_PCLQ_POD_INDEX"
#define GV_ENV_GROUP_NAME "GROVE_PCSG_NAME"
#define GV_ENV_GROUP_PODS "GROVE_PCSG_TEMPLATE_NUM_PODS"
#define GV_ENV_GROUP_INDEX "GROVE_PCSG_INDEX"

/* ---- the waiting init container ---- */
#define GV_WAITER_CONTAINER "grove-initc"
#define GV_WAITER_TOKEN_VOLUME "sa-token-secret-vol"
#define GV_WAITER_INFO_VOLUME "pod-info-vol"
#define GV_WAITER_INFO_PATH "/var/grove/pod-info"
#define GV_WAITER_TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"
#define GV_WAITER_FILE_NAMESPACE "namespace"
#define GV_WAITER_FILE_GANG "podgangname"

/* ---- devices ---- */
#define GV_RESOURCE_GPU "nvidia.com/gpu"
#define GV_CLAIM_MNNVL "mnnvl-claim"

/* ---- scheduler names ---- */
#define GV_SCHEDULER_DEFAULT "default-scheduler"
#define GV_SCHEDULER_KAI "kai-scheduler"
#define GV_SCHEDULER_VOLCANO "volcano"
#define GV_SCHEDULER_LPX "lpx-scheduler"
#define GV_SCHEDULER_GROVE "grove-scheduler"

/* ---- words of the set's spec ---- */
#define GV_STARTUP_ANY_ORDER "CliqueStartupTypeAnyOrder"
#define GV_STARTUP_IN_ORDER "CliqueStartupTypeInOrder"
#define GV_STARTUP_EXPLICIT "CliqueStartupTypeExplicit"
#define GV_UPDATE_ROLLING_RECREATE "RollingRecreate"
#define GV_UPDATE_ON_DELETE "OnDelete"
#define GV_UPDATE_COHERENT "Coherent"
#define GV_SHARE_ALL "AllReplicas"
#define GV_SHARE_EACH "PerReplica"

/* ---- conditions: type, then its reasons ---- */
#define GV_COND_MIN_AVAILABLE_BREACHED "MinAvailableBreached" /* PodClique, PodCliqueScalingGroup */
#define GV_REASON_UPDATE_IN_PROGRESS "UpdateInProgress"
#define GV_REASON_SUSPENDED "Suspended" /* an extension */
#define GV_REASON_SCHEDULED_BELOW_MIN "ScheduledReplicasBelowMinAvailable"
#define GV_REASON_READY_BELOW_MIN "InsufficientReadyPods"
#define GV_REASON_READY_ENOUGH "SufficientReadyPods"
#define GV_REASON_GROUP_BELOW_MIN "InsufficientAvailablePodCliqueScalingGroupReplicas"
#define GV_REASON_GROUP_ENOUGH "SufficientAvailablePodCliqueScalingGroupReplicas"
#define GV_COND_CLIQUE_SCHEDULED "PodCliqueScheduled"
#define GV_REASON_SCHEDULED_ENOUGH "SufficientScheduledPods"
#define GV_REASON_SCHEDULED_TOO_FEW "InsufficientScheduledPods"
#define GV_COND_GANG_TERMINATION "GangTerminationInProgress"
#define GV_REASON_GANG_TERMINATION "GangTerminationActive"
#define GV_COND_TOPOLOGY_UNAVAILABLE "TopologyLevelsUnavailable"
#define GV_REASON_TOPOLOGY_NOT_FOUND "ClusterTopologyNotFound"
#define GV_REASON_TOPOLOGY_NAME_MISSING "TopologyNameMissing"
#define GV_REASON_TOPOLOGY_DISABLED "TopologyAwareSchedulingDisabled"
#define GV_REASON_LEVELS_UNAVAILABLE "ClusterTopologyLevelsUnavailable"
#define GV_REASON_LEVELS_AVAILABLE "AllClusterTopologyLevelsAvailable"
#define GV_COND_TOPOLOGY_DRIFT "SchedulerTopologyDrift" /* ClusterTopologyBinding */
#define GV_REASON_IN_SYNC "InSync"
#define GV_REASON_DRIFT "Drift"
#define GV_REASON_BACKEND_TOPOLOGY_NOT_FOUND "TopologyNotFound"
#define GV_COND_INITIALIZED "Initialized" /* PodGang */
#define GV_REASON_PODS_PENDING "PodGangPodsCreationPending"
#define GV_REASON_PODS_CREATED "PodGangPodsCreated"
#define GV_COND_SCHEDULED "Scheduled"
#define GV_COND_READY "Ready"
#define GV_COND_UNHEALTHY "Unhealthy"
#define GV_COND_DISRUPTION_TARGET "DisruptionTarget"
#define GV_PHASE_PENDING "Pending"
#define GV_PHASE_STARTING "Starting"
#define GV_PHASE_RUNNING "Running"
/* Conditions of our own carry this prefix. */
#define GV_COND_OWN_PREFIX "libgrove.io/"
#define GV_COND_CROSS_GANG "libgrove.io/CrossGangPacked"   /* PodGang */
#define GV_COND_OUT_OF_RATIO "libgrove.io/OutOfRatio"      /* PodClique, PodCliqueScalingGroup */
#define GV_COND_SPREAD "libgrove.io/Spread"                /* PodCliqueSet, PodCliqueScalingGroup */
#define GV_COND_EVER_SCHEDULED "libgrove.io/EverScheduled" /* PodClique */
#define GV_COND_EVER_HEALTHY "libgrove.io/EverHealthy"     /* PodCliqueScalingGroup */

/* ---- event reasons ---- */
#define GV_EVENT_POD_CREATED "PodCreateSuccessful"
#define GV_EVENT_POD_CREATE_FAILED "PodCreateFailed"
#define GV_EVENT_POD_DELETED "PodDeleteSuccessful"
#define GV_EVENT_POD_DELETE_FAILED "PodDeleteFailed"
#define GV_EVENT_ALL_SCHEDULED_LOST "AllScheduledReplicasLost"
#define GV_EVENT_MEMBER_CREATED "PodCliqueCreateSuccessful"
#define GV_EVENT_MEMBER_CREATE_FAILED "PodCliqueCreateFailed"
#define GV_EVENT_CLIQUE_WRITTEN "PodCliqueCreateOrUpdateSuccessful"
#define GV_EVENT_CLIQUE_WRITE_FAILED "PodCliqueCreateOrUpdateFailed"
#define GV_EVENT_CLIQUE_DELETED "PodCliqueDeleteSuccessful"
#define GV_EVENT_CLIQUE_DELETE_FAILED "PodCliqueDeleteFailed"
#define GV_EVENT_GROUP_CREATED "PodCliqueScalingGroupCreateSuccessful"
#define GV_EVENT_GROUP_WRITE_FAILED "PodCliqueScalingGroupCreateOrUpdateFailed"
#define GV_EVENT_GROUP_DELETED "PodCliqueScalingGroupDeleteSuccessful"
#define GV_EVENT_GROUP_DELETE_FAILED "PodCliqueScalingGroupDeleteFailed"
#define GV_EVENT_GROUP_REPLICA_DELETED "PodCliqueScalingGroupReplicaDeleteSuccessful"
#define GV_EVENT_GROUP_REPLICA_DELETE_FAILED "PodCliqueScalingGroupReplicaDeleteFailed"
#define GV_EVENT_GANG_WRITTEN "PodGangCreateOrUpdateSuccessful"
#define GV_EVENT_GANG_WRITE_FAILED "PodGangCreateOrUpdateFailed"
#define GV_EVENT_GANG_DELETED "PodGangDeleteSuccessful"
#define GV_EVENT_GANG_DELETE_FAILED "PodGangDeleteFailed"
#define GV_EVENT_SET_REPLICA_DELETED "PodCliqueSetReplicaDeleteSuccessful"
#define GV_EVENT_SET_REPLICA_DELETE_FAILED "PodCliqueSetReplicaDeleteFailed"
#define GV_EVENT_COMPUTEDOMAIN_CREATED "ComputeDomainCreateSuccessful"
#define GV_EVENT_COMPUTEDOMAIN_CREATE_FAILED "ComputeDomainCreateFailed"
#define GV_EVENT_COMPUTEDOMAIN_DELETED "ComputeDomainDeleteSuccessful"
#define GV_EVENT_COMPUTEDOMAIN_DELETE_FAILED "ComputeDomainDeleteFailed"
#define GV_EVENT_TOPOLOGY_IN_SYNC "TopologyInSync"
#define GV_EVENT_TOPOLOGY_DRIFT "TopologyDriftDetected"
#define GV_EVENT_KAI_MAPPING_FAILED "KAIBackendMappingFailed"
#define GV_EVENT_VOLCANO_UNAVAILABLE "VolcanoCapabilityUnavailable"

#endif
