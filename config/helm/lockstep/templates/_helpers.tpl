{{- define "lockstep.name" -}}
{{- if contains "lockstep" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-lockstep{{ end }}
{{- end }}

{{- define "lockstep.selector" -}}
app.kubernetes.io/name: lockstep
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lockstep.labels" -}}
{{ include "lockstep.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "lockstep.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What the program would only refuse in the cluster, or never notice. */}}
{{- define "lockstep.check" -}}
{{- if and (not .Values.config) (not .Values.existingConfigMap) }}
{{- fail "set config to the contents of lockstep.toml (--set-file config=lockstep.toml), or existingConfigMap to the name of a ConfigMap with it" }}
{{- end }}
{{- if and .Values.existingConfigMap (or .Values.config .Values.files) }}
{{- fail "set either config and files, or existingConfigMap" }}
{{- end }}
{{- if regexMatch `(?m)^\s*url\s*=\s*["']sqlite:` .Values.config }}
{{- fail "config: source.url names a SQLite file. Its service runs on the machine that has the file; this chart runs two on any machine. Use the systemd unit (docs/sqlite.md)" }}
{{- end }}
{{- if and .Values.config (not (regexMatch `(?m)^\s*listen\s*=\s*["'](0\.0\.0\.0|\[::\]):9464["']` .Values.config)) }}
{{- fail "config: the probes need [http] with listen = \"0.0.0.0:9464\"" }}
{{- end }}
{{- if hasKey .Values.files "lockstep.toml" }}
{{- fail "files: lockstep.toml is the value config" }}
{{- end }}
{{- if and .Values.secrets (has "lockstep" .Values.existingSecrets) }}
{{- fail "existingSecrets: with secrets, none may have the name lockstep: both would be /run/secrets/lockstep" }}
{{- end }}
{{- end }}

{{/* The pod of the service and that of `lockstep apply`: what they share. A dict of root and suffix, which is that of what only the hook has. */}}
{{- define "lockstep.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lockstep.container" -}}
image: {{ include "lockstep.image" .root | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
resources: {{ toJson .root.Values.resources }}
{{- end }}

{{- define "lockstep.mounts" -}}
- {name: configuration, mountPath: /etc/lockstep, readOnly: true}
{{- range $number, $name := .Values.existingSecrets }}
- {name: secret-{{ $number }}, mountPath: {{ printf "/run/secrets/%s" $name | quote }}, readOnly: true}
{{- end }}
{{- if .Values.secrets }}
- {name: secrets, mountPath: /run/secrets/lockstep, readOnly: true}
{{- end }}
{{- end }}

{{/* Only the group of the service reads them, or `lockstep check` warns. */}}
{{- define "lockstep.volumes" -}}
- name: configuration
  configMap:
    name: {{ .root.Values.existingConfigMap | default (printf "%s%s" (include "lockstep.name" .root) .suffix) | quote }}
    defaultMode: 0440
{{- range $number, $name := .root.Values.existingSecrets }}
- name: secret-{{ $number }}
  secret: {secretName: {{ $name | quote }}, defaultMode: 0440}
{{- end }}
{{- if .root.Values.secrets }}
- name: secrets
  secret: {secretName: {{ include "lockstep.name" .root }}{{ .suffix }}, defaultMode: 0440}
{{- end }}
{{- end }}
