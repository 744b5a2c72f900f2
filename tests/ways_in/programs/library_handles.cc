// SPDX-License-Identifier: Apache-2.0
//
// Makes and ends handles of the libraries on top of CUDA; leaks one of cuBLAS.
#include <cstdio>

#include "tests/simcuda/libraries/cublas.h"
#include "tests/simcuda/libraries/cudnn.h"
#include "tests/simcuda/libraries/cufft.h"
#include "tests/simcuda/libraries/cusolver.h"
#include "tests/simcuda/libraries/cusparse.h"
#include "tests/simcuda/libraries/nccl.h"
#include "tests/ways_in/programs/tally.h"

namespace {

vramtrack::Tally tally;

void Check(int status, const char* what) {
  if (status != 0) tally.Wrong(what, status);
}

void Communicators() {
  ncclUniqueId id;
  ncclComm_t one, part, all[2];
  const int devices[2] = {0, 0};
  Check(ncclGetUniqueId(&id), "id");
  Check(ncclCommInitRank(&one, 1, id, 0), "init");
  Check(ncclCommSplit(one, 0, 0, &part, nullptr), "split");
  Check(ncclCommInitAll(all, 2, devices), "init all");
  for (int i = 0; i < 4; ++i) tally.Allocated("communicator", 0);
  Check(ncclCommAbort(part), "abort");
  for (ncclComm_t comm : {one, all[0], all[1]}) Check(ncclCommDestroy(comm), "destroy");
  for (int i = 0; i < 4; ++i) tally.Freed("communicator");
}

void Handles() {
  cublasHandle_t blas, leaked;
  cudnnHandle_t dnn;
  cufftHandle plan, second;
  cusolverDnHandle_t solver;
  cusparseHandle_t sparse;
  Check(cublasCreate_v2(&blas), "cublas");
  Check(cublasCreate_v2(&leaked), "cublas");
  Check(cublasDestroy_v2(blas), "cublas");
  tally.Allocated("blas_handle", 0);
  tally.Allocated("blas_handle", 0);
  tally.Freed("blas_handle");
  Check(cudnnCreate(&dnn), "cudnn");
  Check(cudnnDestroy(dnn), "cudnn");
  tally.Allocated("dnn_handle", 0);
  tally.Freed("dnn_handle");
  Check(cufftPlan1d(&plan, 1024, 0x29, 1), "cufft");
  Check(cufftPlan2d(&second, 32, 32, 0x29), "cufft");
  Check(cufftDestroy(plan), "cufft");
  Check(cufftDestroy(second), "cufft");
  for (int i = 0; i < 2; ++i) {
    tally.Allocated("fft_plan", 0);
    tally.Freed("fft_plan");
  }
  Check(cusolverDnCreate(&solver), "cusolver");
  Check(cusolverDnDestroy(solver), "cusolver");
  tally.Allocated("solver_handle", 0);
  tally.Freed("solver_handle");
  Check(cusparseCreate(&sparse), "cusparse");
  Check(cusparseDestroy(sparse), "cusparse");
  tally.Allocated("sparse_handle", 0);
  tally.Freed("sparse_handle");
}

}  // namespace

int main() {
  Communicators();
  Handles();
  return tally.Print();
}
