// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package helm names the program that chart.sh builds.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
