package wire

const headSize = 4096
