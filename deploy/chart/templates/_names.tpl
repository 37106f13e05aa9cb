{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- define "groved.labels" -}}
app.kubernetes.io/name: groved
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "groved.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
