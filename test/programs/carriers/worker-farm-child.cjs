// The process of worker-farm.mjs.
module.exports = (n, callback) => {
  setTimeout(() => callback(null, n), 5);
};
